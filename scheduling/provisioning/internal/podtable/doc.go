// Package podtable holds the pods that run and where, in tables of which copies cost little.
package podtable
