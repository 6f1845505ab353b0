// Package markdown writes text in the Markdown of GitHub: tables, collapsed sections, and any text as it is.
package markdown
