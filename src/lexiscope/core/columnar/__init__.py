"""How columns of responses are held in memory and in files; what they mean is in response."""
