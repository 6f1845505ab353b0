// Package ec2data makes the tables of the embedded EC2 catalogs from the data of package
// source: it decides which source is right where two disagree, corrects known
// errors, derives facts of newer types from their names, and leaves out types with unknown
// facts. It makes up no price.
package ec2data
