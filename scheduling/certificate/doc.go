// Package certificate holds the proof of a lower bound on price, as the summary of a plan carries
// it: a [Certificate] states dual values of pods and resources, from which a reader computes the
// bound with the problem alone. Package provisioning makes certificates, and package verify checks
// them with code of its own.
//
// The field names of JSON are a contract. Worths are decimal strings of whole numbers, because they
// may exceed 64 bits.
package certificate
