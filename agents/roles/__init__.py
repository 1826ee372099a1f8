"""The roles: one file each, a value with its checks. Roles never import one another."""
