// Package fixed holds the numbers that bounds are proven with: unsigned integers of 128 bits, which stand for
// prices in nano-USD per hour if [Scale] of their bits are binary places.
//
// Conversions round down, and sums report an overflow, so that a proof never claims too much.
package fixed
