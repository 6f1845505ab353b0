// Package table compares the results of several planners and writes them as Markdown.
package table
