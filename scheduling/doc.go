// Package scheduling decides which machines to buy for pending pods.
package scheduling
