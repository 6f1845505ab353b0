// Package gcpdata makes the tables of the embedded GCP catalogs from what the sources say,
// and leaves out what it does not understand or what GKE has no use for.
package gcpdata
