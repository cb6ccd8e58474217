"""What is paid for: one way to ask models about many things."""
