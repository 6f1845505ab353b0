// Package pricelists lists the offerings of catalogs and the sources of their prices, and compares the prices of two
// catalogs.
package pricelists
