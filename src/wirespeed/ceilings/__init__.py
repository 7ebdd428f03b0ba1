"""The most that each element of a path can carry: pure arithmetic."""
