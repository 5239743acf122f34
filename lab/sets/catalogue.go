package sets

import (
	"slices"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// sets are all sets, in the order of [Names].
var sets = slices.Concat([]*Set{
	adult(), a9a(), mnist(), letter(), har(), news("news"), news("news-log"), year(),
}, regressionSets())

// paper adds the paper's settings for all sets: the cosine map, all columns standardized, no clip.
func paper(d Defaults) Defaults {
	d.Standardize, d.Clip = encoder.StandardizeAll, 0
	return d
}

// Publishers of several sets.
const (
	uci         = "https://archive.ics.uci.edu/"
	uciFiles    = uci + "ml/machine-learning-databases/"
	libsvmFiles = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"
	ccBy        = "CC BY 4.0"
)

func adult() *Set {
	return &Set{
		Name: "adult", Title: "Adult (census income): does a person earn more than 50,000 dollars a year?",
		Home: uci + "dataset/2/adult", License: ccBy,
		Files: []File{
			{
				Path: "adult.data", URLs: []string{uciFiles + "adult/adult.data"},
				SHA256: "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
			},
			{
				Path: "adult.test", URLs: []string{uciFiles + "adult/adult.test"},
				SHA256: "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
			},
		},
		Notice: "the paper's 122 dimensions are those of a9a; the attributes give 104 in the calibration rows, because missing and rare values are no categories",
		Dim:    104, Classes: 2, TrainRows: 32561, TestRows: 16281,
		Defaults: paper(Defaults{Features: []int{20, 50, 100}, Candidates: 2000, Sample: 0.05, Fixed: true, Intercept: true}),
		open:     openAdult,
	}
}

func a9a() *Set {
	return &Set{
		Name: "a9a", Title: "Adult in binary columns, from LIBSVM's collection: the encoding of the paper",
		Home: libsvmFiles + "binary.html#a9a", License: ccBy + " (of the records, from UCI Adult)",
		Files: []File{
			{
				Path: "a9a", URLs: []string{libsvmFiles + "binary/a9a"},
				SHA256: "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
			},
			{
				Path: "a9a.t", URLs: []string{libsvmFiles + "binary/a9a.t"},
				SHA256: "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9",
			},
		},
		Notice: "column 123 is set in one training row and in no test row; the paper's 122 dimensions are those of the " +
			"test file",
		Dim: 123, Classes: 2, TrainRows: 32561, TestRows: 16281,
		Defaults: paper(Defaults{Features: []int{20, 50, 100}, Candidates: 2000, Sample: 0.05, Fixed: true, Intercept: true}),
		open:     openA9A,
	}
}

func mnist() *Set {
	file := func(name, sum string) File {
		return File{Path: name, SHA256: sum, URLs: []string{
			"https://storage.googleapis.com/cvdf-datasets/mnist/" + name + ".gz",
			"https://ossci-datasets.s3.amazonaws.com/mnist/" + name + ".gz",
		}}
	}
	return &Set{
		Name: "mnist", Title: "MNIST: handwritten digits of 28 by 28 pixels",
		Home: "http://yann.lecun.com/exdb/mnist/", License: "CC BY-SA 3.0, as usually stated",
		Files: []File{
			file("train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
			file("train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
			file("t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
			file("t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
		},
		Notice: "the home page no longer serves the files reliably; public copies are used",
		Dim:    784, Classes: 10, TrainRows: 60000, TestRows: 10000,
		Defaults: paper(Defaults{
			Features:   []int{150, 300, 450},
			Candidates: 10000,
			Sample:     0.2,
			Fixed:      true,
			Intercept:  true,
		}),
		open: openMNIST,
	}
}

func letter() *Set {
	return &Set{
		Name: "letter", Title: "Letter recognition: 26 capital letters from 16 measures of their shape",
		Home: uci + "dataset/59/letter+recognition", License: ccBy,
		Files: []File{{
			Path: "letter-recognition.data", URLs: []string{uciFiles + "letter-recognition/letter-recognition.data"},
			SHA256: "2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2",
		}},
		Notice: "the test rows are the last 5,000, as in the Statlog project; the set has no test file",
		Dim:    16, Classes: 26, TrainRows: 15000, TestRows: 5000,
		Defaults: paper(Defaults{Features: []int{20, 50, 100}, Candidates: 2000, Sample: 1, Fixed: true, Intercept: true}),
		open:     openLetter,
	}
}
