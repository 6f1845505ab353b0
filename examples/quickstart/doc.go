// Package quickstart holds the manifests of a small shop, and an example that plans
// its nodes.
package quickstart
