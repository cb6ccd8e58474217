# docker build --tag sightline . && mkdir -p demo && docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD/demo:/demo" sightline
FROM python:3.12-slim
COPY pyproject.toml README.md LICENSE /source/
COPY src /source/src
COPY packages/sightline-world /source/packages/sightline-world
RUN pip install --no-cache-dir '/source[view]' /source/packages/sightline-world && rm -r /source
# Whoever it is run as has a home.
ENV HOME=/tmp
WORKDIR /
ENTRYPOINT ["sightline"]
CMD ["demo", "--out", "/demo"]
