"""Reports as files for paper and word processors."""
