// Package documents takes a file or stream apart into the objects of Kubernetes in it.
//
// It owns the syntax of the input: YAML with any number of documents, JSON values one after
// another, and lists, whose items it hands on one by one. It promises that each object is JSON with
// an API version, a kind and a [Position], whatever the input was; that the memory it takes is
// bounded by [MaxObjectBytes] and not by the source; and that text which is no object is reported
// as a [Fault], with the reason in one of the values of [Kind].
//
// It does not know which kinds there are, any field of an object but apiVersion, kind and items,
// the names of files, or whether a fault ends the reading of the input: its caller does.
package documents
