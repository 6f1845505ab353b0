// Package lifecycle reads from the status and the owners of pods and nodes where they are in their lives: pods that have
// ended, that are being deleted, or that stay on their node until it is gone; nodes that are ready.
package lifecycle
