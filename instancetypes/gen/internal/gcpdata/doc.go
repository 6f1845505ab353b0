// Package gcpdata makes the tables of the embedded GCP catalogs from the data of package source,
// and leaves out types whose facts are unclear or that GKE does not offer.
package gcpdata
