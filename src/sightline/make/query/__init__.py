"""The words of each query, written from its seeds alone: by a chat model, or by templates over the annotations."""
