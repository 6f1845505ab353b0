// Package template reads the nodes that node groups would add as instance types.
package template
