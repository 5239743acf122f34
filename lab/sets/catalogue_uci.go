package sets

func har() *Set {
	file := func(part, name, sum, blob string) File {
		return File{
			Path: "uci_har/" + name, URLs: []string{uciFiles + "00240/UCI%20HAR%20Dataset.zip"},
			Member: "UCI HAR Dataset/" + part + "/" + name, SHA256: sum, GitBlob: blob,
		}
	}
	return &Set{
		Name: "har", Title: "Human activity recognition: 6 activities from the motion sensors of a telephone",
		Home:    uci + "dataset/240/human+activity+recognition+using+smartphones",
		License: ccBy + "; the archive's own note excludes commercial use",
		Files: []File{
			file("train", "X_train.txt", "", "8b6911d161333f14b6550c5b4737b94853d5d04b"),
			file("train", "y_train.txt", "415b3357e2e2d5e70a45c781947c6bdd80e0410a579d862eedcd6bbce3c694ef", ""),
			file("test", "X_test.txt", "", "14a4409a7ab6fe9b873015d87b720ef716b04363"),
			file("test", "y_test.txt", "2a94cb53ca46b956c1b2aebd4a09a72badd8a8e9ea9cdfe9f31b3306a08666bb", ""),
		},
		Notice: "M, M0 and N0 are this project's choice",
		Dim:    561, Classes: 6, TrainRows: 7352, TestRows: 2947,
		Defaults: paper(Defaults{Features: []int{50, 100, 200}, Candidates: 2000, Sample: 0.5, Fixed: true, Intercept: true}),
		open:     openHAR,
	}
}

// news is the set with the original label, or its logarithm.
func news(name string) *Set {
	s := &Set{
		Name: name, Title: "Online news popularity: how often an article is shared",
		Home: uci + "dataset/332/online+news+popularity", License: ccBy,
		Files: []File{{
			Path: "OnlineNewsPopularity.csv", Member: "OnlineNewsPopularity/OnlineNewsPopularity.csv",
			URLs: []string{
				uci + "static/public/332/online+news+popularity.zip",
				uciFiles + "00332/OnlineNewsPopularity.zip",
			},
			SHA256: "b66d9088632308cc27fa35af847650d174a5a50503987c4e511de94a99d1c218",
		}},
		Notice: "the label, scaled to [-1, 1], is almost the constant -1: the paper's error measures the missing intercept",
		Dim:    58, TrainRows: 26561, TestRows: 13083,
		Defaults: paper(Defaults{Features: []int{50, 100, 200}, Candidates: 20000, Sample: 0.05, TestFraction: 0.33}),
		open:     openNews,
	}
	if name == "news-log" {
		s.Title += ", as its natural logarithm"
		s.Notice = "the paper uses the number itself; of its logarithm more can be explained"
		s.Defaults.Intercept = true
		s.open = openNewsLog
	}
	return s
}

func year() *Set {
	return &Set{
		Name: "year", Title: "Year prediction (Million Song Dataset): when a song was published, from its timbre",
		Home: uci + "dataset/203/yearpredictionmsd", License: ccBy,
		Files: []File{{
			Path: "YearPredictionMSD.txt", Member: "YearPredictionMSD.txt",
			URLs: []string{
				uciFiles + "00203/YearPredictionMSD.txt.zip",
				uci + "static/public/203/yearpredictionmsd.zip",
			},
		}},
		Notice: "M, M0 and N0 are this project's choice; no checksum of the file is known to us, that of the archive's " +
			"entry is checked",
		Dim: 90, TrainRows: yearTrainRows, TestRows: 51630,
		Defaults: paper(Defaults{Features: []int{50, 100, 200}, Candidates: 4000, Sample: 0.1, Fixed: true, Intercept: true}),
		open:     openYear,
	}
}
