"""One module a chapter's exercises; each registers its properties."""
