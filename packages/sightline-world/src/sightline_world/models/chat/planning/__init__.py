"""Planning of tool calls: what is asked, what the conversation has shown so far, and what to do next."""
