"""What a model is rejected or warned for, whatever the study."""
