"""Small drawings in SVG, written by hand: no script, no font, no image, and every number also as text."""

from sightline.report.charts.costs import Point, cost_plot
from sightline.report.charts.curves import Curve, curve_plot
from sightline.report.charts.dots import Band, Dot, dot_plot
from sightline.report.charts.draw import marker

__all__ = ["Band", "Curve", "Dot", "Point", "cost_plot", "curve_plot", "dot_plot", "marker"]
