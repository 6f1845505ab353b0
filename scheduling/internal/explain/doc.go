// Package explain says why pods found no place, counted over everything on sale and every
// node, and which smallest changes would place them; and why a launch buys what it buys.
package explain
