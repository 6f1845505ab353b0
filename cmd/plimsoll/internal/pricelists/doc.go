// Package pricelists sets the prices of two catalogs side by side, and says from when they are.
package pricelists
