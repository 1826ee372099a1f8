"""The report: from findings to a document whose every citation opens its quote, and its renderings."""
