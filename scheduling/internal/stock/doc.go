// Package stock keeps the offerings on sale while steps are made: the machines that reservations have left, the rest of the
// limits of NodePools, and which options of launches can be had together.
package stock

// A map of this package's files.
//
//	stock   offerings and reservations
//	ledger  the machines and resources that launches take from reservations and limits
//	hold    which options of launches can be had together
