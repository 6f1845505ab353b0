// Package brackets reserves shares of a resource that differ by stretches of it, as clouds do
// for the kubelet.
package brackets
