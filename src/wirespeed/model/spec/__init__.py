"""What is wanted: hosts, networks, guests, and the approach that brings them about. One file."""
