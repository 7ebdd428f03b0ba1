"""Hosts without hardware: a wire in memory between the tester and a DUT."""
