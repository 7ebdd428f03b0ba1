"""WSL 2: what is judged and changed on both of its sides, Linux and Windows."""
