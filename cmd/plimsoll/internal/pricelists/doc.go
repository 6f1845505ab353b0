// Package pricelists lists what catalogs sell and where their figures come from, sets the prices
// of two side by side, and lays those of files over them.
package pricelists
