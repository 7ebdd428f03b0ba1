"""What a network of guests carries, survives and keeps apart."""
