"""How the job store's tables came about, step by step; run when the store is opened."""
