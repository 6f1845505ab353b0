// Package untrusted guards the readers of JSON from anywhere against values that
// Kubernetes' own types take minutes or gigabytes to read.
package untrusted
