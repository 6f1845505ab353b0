// Package strict decodes JSON into the Go types of Kubernetes and of this module, and reports every
// fault with the path of its field: values of a wrong type, duplicate keys, and fields that the type
// does not have. The decoder is that of the API server (sigs.k8s.io/json): names of fields are case
// sensitive. Where it stops at the first fault, or does not say which field a value belongs to, this
// package compares the JSON with the Go type.
package strict
