"""From steps to a plan, and from a plan to hosts and back: nothing here knows a particular step."""
