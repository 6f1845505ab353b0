// Package pricelists sets the prices of two catalogs side by side.
package pricelists
