// Package pricelists lists the offerings of catalogs and the sources of their prices, compares the prices of two catalogs,
// and replaces prices by those of a file.
package pricelists
