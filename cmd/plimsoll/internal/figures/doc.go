// Package figures writes prices, shares and counts for people.
package figures
