"""From feasible queries to a contract: research tree, caps, forecast."""
