// Package skipped tells what was left out of an input as it is no valid object.
package skipped
