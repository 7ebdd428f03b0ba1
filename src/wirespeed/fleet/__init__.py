"""Many hosts judged together: causes that they share, settings in which few differ. Pure."""
