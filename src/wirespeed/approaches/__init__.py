"""How a spec is brought about: each approach gives the steps of a host, in order; pure."""
