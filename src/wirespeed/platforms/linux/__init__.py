"""Linux hosts: the seam to facts, rules and steps, which are Linux's and shared."""
