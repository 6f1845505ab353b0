// Package requirements is the algebra of label requirements.
package requirements
