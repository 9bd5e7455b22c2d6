"""The pages of a study: what participants and researchers see, and the server that stores what they answer."""
