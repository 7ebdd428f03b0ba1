"""Questions of design: one per file, answered by published figures and computed ceilings."""
