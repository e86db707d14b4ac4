"""What a model is refused or warned for, whatever the study."""
