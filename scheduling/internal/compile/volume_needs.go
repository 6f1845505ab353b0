package compile

// VolumeRounds is how many times each question about volumes may be asked anew.
const VolumeRounds = 8
