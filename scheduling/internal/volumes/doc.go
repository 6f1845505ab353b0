// Package volumes decides what a plan cannot answer itself and its volumes depend on: which claims
// pods share get which volume, where it is made, and who uses it first.
package volumes
