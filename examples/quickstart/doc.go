// Package quickstart holds the manifests of a small shop, and an example that plans
// the machines for them.
package quickstart
